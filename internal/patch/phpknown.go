package patch

import "strings"

// phpPure are functions of PHP that neither write to a database nor call anything of the
// program but what they are given.
var phpPure = phpNames(`
	abs acos array_chunk array_column array_combine array_count_values array_diff array_diff_assoc array_diff_key array_fill array_fill_keys array_flip
	array_intersect array_intersect_key array_is_list array_key_exists array_key_first array_key_last array_keys array_merge array_merge_recursive
	array_pad array_pop array_product array_push array_rand array_replace array_reverse array_search array_shift array_slice array_splice array_sum
	array_unique array_unshift array_values arsort asort asin atan atan2 base64_decode base64_encode basename bcadd bccomp bcdiv bcmul bcsub bin2hex
	boolval ceil checkdate chr chunk_split compact cos count crc32 ctype_alnum ctype_alpha ctype_digit ctype_lower ctype_punct ctype_space ctype_upper
	ctype_xdigit current date date_create date_default_timezone_get date_diff date_format dechex decbin define defined deg2rad dirname echo end error_log
	exp explode file_exists filter_var floatval floor flush fmod func_get_args function_exists get_class getdate gettype gmdate gmmktime hash
	hash_hmac header hex2bin hexdec hrtime html_entity_decode htmlentities htmlspecialchars htmlspecialchars_decode http_build_query http_response_code
	iconv idate implode in_array intdiv intval is_a is_array is_bool is_callable is_countable is_dir is_file is_float is_int is_integer is_iterable
	is_null is_numeric is_object is_scalar is_string is_subclass_of isset join json_decode json_encode json_last_error json_last_error_msg key krsort
	ksort lcfirst levenshtein localtime log log10 ltrim max mb_convert_case mb_convert_encoding mb_detect_encoding mb_internal_encoding mb_str_pad
	mb_str_split mb_strimwidth mb_stripos mb_strlen mb_strpos mb_strrpos mb_strtolower mb_strtoupper mb_strwidth mb_substr mb_substr_count md5
	memory_get_peak_usage memory_get_usage method_exists microtime min mktime money_format mt_rand mt_srand natcasesort natsort next nl2br number_format
	ob_get_clean ob_get_contents ob_start ord pathinfo php_sapi_name phpversion pi pow preg_grep preg_last_error preg_match preg_match_all preg_quote
	preg_replace preg_split prev print print_r printf property_exists quotemeta rad2deg rand random_bytes random_int range rawurldecode rawurlencode
	reset round rsort rtrim sha1 shuffle similar_text sin sizeof sort soundex sprintf sqrt str_contains str_ends_with str_ireplace str_pad
	str_repeat str_replace str_split str_starts_with str_word_count strcasecmp strchr strcmp strcoll strcspn strftime strip_tags stripos stripslashes
	addslashes stristr strlen strnatcasecmp strnatcmp strncasecmp strncmp strpbrk strpos strrchr strrev strripos strrpos strspn strstr strtok strtolower
	strtotime strtoupper strtr strval substr substr_compare substr_count substr_replace tan time trim ucfirst ucwords uniqid unset urldecode
	urlencode utf8_decode utf8_encode var_dump var_export version_compare vprintf vsprintf wordwrap mb_ereg_replace money ctype_cntrl
	array_key_last iterator_to_array spl_object_id spl_object_hash fputcsv fwrite fputs settype gettimeofday cal_days_in_month easter_date
	timezone_open inet_ntop inet_pton ip2long long2ip nl_langinfo parse_str parse_url constant parse_ini_file password_hash password_verify lcg_value
	fgets fgetcsv fgetc fread feof str_getcsv`)

// phpCalling are functions of PHP that call what they are given.
var phpCalling = phpNames(`array_filter array_map array_reduce array_udiff array_uintersect array_walk array_walk_recursive call_user_func call_user_func_array
	preg_replace_callback uasort uksort usort array_diff_ukey array_find array_any array_all`)

// phpByReference are functions of PHP that change what they are given.
var phpByReference = phpNames(`array_pop array_push array_shift array_splice array_unshift array_walk array_walk_recursive arsort asort end key_exists krsort ksort natcasesort natsort
	next preg_match preg_match_all prev reset rsort shuffle sort uasort uksort usort settype parse_str similar_text str_replace str_ireplace preg_replace preg_replace_callback each current key
	mysqli_stmt_bind_result bind_result bindcolumn openssl_sign exec getopt is_callable`)

// phpStatementCalls are what is done with statements and rows without sending one.
var phpStatementCalls = phpNames(`fetch fetchall fetchcolumn fetchobject fetch_assoc fetch_array fetch_row fetch_object fetch_all fetch_column fetch_field fetch_fields bindvalue bindparam bind_param bindcolumn
	bind_result get_result close closecursor rowcount columncount setfetchmode free free_result store_result data_seek lastinsertid quote real_escape_string escape_string errorinfo errorcode
	mysqli_fetch_assoc mysqli_fetch_array mysqli_fetch_row mysqli_fetch_object mysqli_fetch_all mysqli_num_rows mysqli_free_result mysqli_error mysqli_errno mysqli_insert_id
	mysqli_real_escape_string mysqli_escape_string mysqli_affected_rows mysqli_stmt_bind_param mysqli_stmt_bind_result mysqli_stmt_fetch mysqli_stmt_get_result mysqli_stmt_close mysqli_stmt_store_result mysqli_stmt_num_rows mysqli_data_seek`)

// phpSends are calls that send a statement, with the argument that is its text.
var phpSends = map[string]int{"prepare": 0, "query": 0, "exec": 0, "execute_query": 0, "mysqli_query": 1, "mysqli_prepare": 1, "mysqli_execute_query": 1}

// phpPlainClasses are classes of PHP whose objects do nothing beyond themselves.
var phpPlainClasses = phpNames(`stdclass datetime datetimeimmutable dateinterval datetimezone dateperiod arrayobject arrayiterator splobjectstorage splstack splqueue numberformatter
	exception runtimeexception logicexception invalidargumentexception domainexception lengthexception outofboundsexception outofrangeexception rangeexception unexpectedvalueexception
	badfunctioncallexception badmethodcallexception errorexception error typeerror valueerror`)

// phpPlainMethods are methods of those classes.
var phpPlainMethods = phpNames(`format modify add sub diff settime setdate settimestamp gettimestamp settimezone gettimezone getoffset getmessage getcode getprevious getline getfile gettrace gettraceasstring append offsetget attach push pop enqueue dequeue`)

func phpNames(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}

// calledName is the name in lower case of a function or method that a call calls; "" if it
// is computed.
func calledName(call *phpNode) string {
	if call.Is("Expr_FuncCall") {
		return strings.ToLower(last(call.Node("name").Name()))
	}
	if n := call.Node("name"); n.Is("Identifier") {
		return strings.ToLower(n.Name())
	}
	return ""
}

// takesReference reports a call that may change an argument itself.
func (p *php) takesReference(call, arg *phpNode) bool {
	if call.Is("Expr_New") {
		return p.text.references["__construct"]
	}
	name := calledName(call)
	return name == "" || phpByReference[name] || p.text.references[name]
}
