sub vcl_deliver {
    if (resp_sub.hasprefix(req.url)) {
       if (resp_sub.check_call(select=LONGEST)) {
          call resp_sub.subroutine(select=LONGEST);
       }
       else {
          call do_if_resp_sub_is_illegal;
       }
    }
}
