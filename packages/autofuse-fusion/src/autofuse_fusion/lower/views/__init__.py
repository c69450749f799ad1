"""Views: operators that move elements, as index maps on what they read, and as primitives where they choose."""
