# frozen_string_literal: true

# For bench/files: /hang keeps its thread for three seconds, all other paths get an answer at once.
hello = [200, { "content-type" => "text/plain" }.freeze, ["Hello World\n"].freeze].freeze
run(lambda do |env|
  sleep 3 if env["PATH_INFO"] == "/hang"
  hello
end)
