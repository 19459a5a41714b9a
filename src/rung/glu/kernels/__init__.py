"""The Triton kernels. Importing this needs triton; nothing here runs without a device or the interpreter."""
