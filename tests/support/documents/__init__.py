"""PDFs made on the spot, whole and broken: each has one fault that was met in the wild."""
