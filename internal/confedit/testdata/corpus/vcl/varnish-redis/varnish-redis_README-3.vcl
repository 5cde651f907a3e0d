sub vcl_init {
    # VMOD configuration: clustered setup, keeping up to 100 Redis
    # connections per server, all shared between all Varnish worker threads.
    # Two initial cluster servers are provided; remaining servers are
    # automatically discovered.
    new db = redis.db(
        location="192.168.1.100:6379",
        type=cluster,
        connection_timeout=500,
        shared_connections=true,
        max_connections=128,
        max_cluster_hops=16);
    db.add_server("192.168.1.101:6379", cluster);
}

sub vcl_deliver {
    # SET internally routed to the destination server.
    db.command("SET");
    db.push("foo");
    db.push("Hello world!");
    db.execute();

    # GET internally routed to the destination server.
    db.command("GET");
    db.push("foo");
    db.execute(false);
    set req.http.X-Foo = db.get_string_reply();
}
