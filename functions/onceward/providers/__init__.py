"""Model providers behind HTTP: what is asked, what an answer means, what it cost. One call is one request."""
