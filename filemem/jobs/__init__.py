"""A job for one user or for many: here, in processes of this machine, or on a Dask cluster."""
