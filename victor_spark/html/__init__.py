"""From bytes to block columns: charset, canonical HTML, segmentation. The only importer of resiliparse."""
