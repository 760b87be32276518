"""Documents as people have them, read into sections: one module for each format."""
