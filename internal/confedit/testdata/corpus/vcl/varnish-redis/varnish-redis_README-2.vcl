sub vcl_init {
    # VMOD configuration: master-slave replication, keeping up to two
    # Redis connections per Varnish worker thread (up to one to the master
    # server & up to one to the closest slave server).
    redis.subnets(
        masks={"
            0 192.168.1.102/32,
            1 192.168.1.103/32,
            2 0.0.0.0/32
        "});
    new db = redis.db(
        location="192.168.1.100:6379",
        type=master,
        connection_timeout=500,
        shared_connections=false,
        max_connections=2);
    db.add_server("192.168.1.101:6379", slave);
    db.add_server("192.168.1.102:6379", slave);
    db.add_server("192.168.1.103:6379", slave);
}

sub vcl_deliver {
    # SET submitted to the master server.
    db.command("SET");
    db.push("foo");
    db.push("Hello world!");
    db.execute();

    # GET submitted to one of the slave servers.
    db.command("GET");
    db.push("foo");
    db.execute(false);
    set req.http.X-Foo = db.get_string_reply();
}
