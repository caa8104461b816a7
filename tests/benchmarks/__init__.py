"""Speed and memory, measured by hand; nothing here is a test."""
