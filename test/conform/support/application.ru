# frozen_string_literal: true

# Answers with the env that it was called with, a line "KEY=value" each, the body as the last one. /calls tells what
# was called since it was last asked: what was refused must not be in it.
calls = []
run(lambda do |env|
  if env["PATH_INFO"] == "/calls"
    list = calls.join("\n")
    calls.clear
    next [200, { "content-type" => "text/plain" }, [list]]
  end

  calls << "#{env['REQUEST_METHOD']} #{env['REQUEST_URI']}"
  lines = env.filter_map { |name, value| "#{name}=#{value.b.dump}\n" if value.is_a?(String) }
  lines << "body=#{env['rack.input'].read.b.dump}\n"
  [200, { "content-type" => "text/plain" }, lines]
end)
