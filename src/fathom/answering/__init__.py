"""Questions for models: prompts, answers by letter and in words, and the effect of their form."""
