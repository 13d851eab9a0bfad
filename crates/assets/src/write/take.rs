//! Takes as safetensors.
