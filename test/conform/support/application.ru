# frozen_string_literal: true

# Responds with the env that it was called with: one line "KEY=value" each, and the body in the last line. /calls
# returns the requests since the last call of /calls whose bodies were read. A rejected request must not be among them.
calls = []
run(lambda do |env|
  if env["PATH_INFO"] == "/calls"
    list = calls.join("\n")
    calls.clear
    next [200, { "content-type" => "text/plain" }, [list]]
  end

  text = env["rack.input"].read
  calls << "#{env['REQUEST_METHOD']} #{env['REQUEST_URI']}"
  lines = env.filter_map { |name, value| "#{name}=#{value.b.dump}\n" if value.is_a?(String) }
  lines << "body=#{text.b.dump}\n"
  body = lines.join
  [200, { "content-type" => "text/plain", "content-length" => body.bytesize.to_s }, [body]]
end)
