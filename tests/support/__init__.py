"""What the tests share: one small module a job."""
