sub pipe_if_local {
    if (client.ip ~ localnetwork) {
        return (pipe);
    }
}
