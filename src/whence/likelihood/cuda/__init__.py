"""The engine of graphics cards: batches of machines, scored by CUDA kernels."""

FEW = 100  # machines that must be asked for at once for a card to pay, if it keeps rows near ...
FEW_FAR = 1_000  # ... and if not: one machine takes a tenth of a second then
