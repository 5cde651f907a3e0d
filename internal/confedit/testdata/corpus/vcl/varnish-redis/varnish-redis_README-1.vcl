sub vcl_init {
    # VMOD configuration: simple case, keeping up to one Redis connection
    # per Varnish worker thread.
    new db = redis.db(
        location="192.168.1.100:6379",
        type=master,
        connection_timeout=500,
        shared_connections=false,
        max_connections=1);
}

sub vcl_deliver {
    # Simple command execution.
    db.command("SET");
    db.push("foo");
    db.push("Hello world!");
    db.execute();

    # LUA scripting.
    db.command("EVAL");
    db.push({"
        redis.call('SET', KEYS[1], ARGV[1])
        redis.call('SET', KEYS[2], ARGV[1])
    "});
    db.push("2");
    db.push("foo");
    db.push("bar");
    db.push("Atomic hello world!");
    db.execute();

    # Array replies, checking & accessing to reply.
    db.command("MGET");
    db.push("foo");
    db.push("bar");
    db.execute();
    if ((db.reply_is_array()) &&
        (db.get_array_reply_length() == 2)) {
        set resp.http.X-Foo = db.get_array_reply_value(0);
        set resp.http.X-Bar = db.get_array_reply_value(1);
    }
}
