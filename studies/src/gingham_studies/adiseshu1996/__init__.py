"""Adiseshu, Parulkar and Varghese 1996: one FIFO pipe out of several channels."""
