"""Side-by-side measurements that anyone can run again; no test rests on a time."""
