"""The engine of graphics cards: batches of machines, scored by CUDA kernels."""
