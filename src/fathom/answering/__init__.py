"""Questions that models answer: prompts, answers by letter and in words, and what their form changes."""
