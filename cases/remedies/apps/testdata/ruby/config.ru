# A Rack application that takes a moment of CPU and says whether it is compiled.
run lambda { |env|
  if env["PATH_INFO"] == "/jit"
    next [200, { "Content-Type" => "text/plain" }, [defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled? ? "yes" : "no"]]
  end
  total = (0...20000).sum { |i| i * i }
  [200, { "Content-Type" => "text/plain" }, ["sum #{total}\n"]]
}
