workers 1
threads 1, 1
