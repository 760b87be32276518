"""Calibration of every interval, test, letter and verdict, on simulated data of known truth."""
