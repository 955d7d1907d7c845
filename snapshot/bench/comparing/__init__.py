"""Two ``bench`` sections compared: like with like only, and no difference claimed that the samples do not show."""
