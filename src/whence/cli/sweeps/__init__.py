"""Many inferences that a file describes: the plan, its cells, and the page about them."""
