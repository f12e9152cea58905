"""What is asserted: claims as exact objects, and the closed forms one applies to one's own data."""
