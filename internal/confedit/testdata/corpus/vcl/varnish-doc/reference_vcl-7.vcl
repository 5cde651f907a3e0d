sub filter_cookies {
    if (!req.http.cookie) {
        return;
    }
    # complex cookie filtering
}
