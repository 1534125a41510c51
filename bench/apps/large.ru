# frozen_string_literal: true

# The application of bench/slow: /large has 8 MiB, in parts of 64 KiB; everything else is small.

part = ("x" * 65_536).freeze
large = Array.new(128, part).freeze

run(lambda do |env|
  [200, { "content-type" => "text/plain" }, env["PATH_INFO"] == "/large" ? large : ["Hello, World!\n"]]
end)
