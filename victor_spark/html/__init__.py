"""From bytes to block columns: charset, canonical HTML, segmentation. The door to resiliparse."""
