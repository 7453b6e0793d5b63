"""People's judgement: kits that raters fill in, and what their ratings say. Reads saved runs and files, calls no model."""
