"""What `fathom check-gpu` measures: correctness and speed on a GPU, with random weights of real shapes."""
