//! The product: learned garments stepped in microseconds, one or thousands.
