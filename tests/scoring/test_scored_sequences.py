"""What pairs share: each shared prefix is read once, and every pair still gets its own scores."""
