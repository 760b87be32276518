"""Reading and writing: files, tables and their contracts."""
