"""What crosses a boundary: requests, responses, problems and messages, and the rules of reading them."""
