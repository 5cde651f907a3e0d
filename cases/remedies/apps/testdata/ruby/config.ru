# A Rack application that takes a moment of CPU and says whether it is compiled and who asked.
run lambda { |env|
  if env["PATH_INFO"] == "/jit"
    next [200, { "Content-Type" => "text/plain" }, [defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled? ? "yes" : "no"]]
  end
  told = { "/whoami" => "REMOTE_ADDR", "/host" => "HTTP_HOST" }[env["PATH_INFO"]]
  next [200, { "Content-Type" => "text/plain" }, [env[told]]] if told
  total = (0...20000).sum { |i| i * i }
  [200, { "Content-Type" => "text/plain" }, ["sum #{total}\n"]]
}
