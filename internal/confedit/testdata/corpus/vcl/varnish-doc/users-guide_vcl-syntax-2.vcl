sub pipe_if_local {
  if (client.ip ~ local) {
    return (pipe);
  }
}
