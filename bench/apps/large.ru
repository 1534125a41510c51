# frozen_string_literal: true

# The application of bench/slow: /large has 8 MiB, in parts of 64 KiB; /half has half of that; all other responses are
# small.

part = ("x" * 65_536).freeze
bodies = Hash.new(["Hello, World!\n"].freeze)
bodies["/large"] = Array.new(128, part).freeze
bodies["/half"] = Array.new(64, part).freeze

run(->(env) { [200, { "content-type" => "text/plain" }, bodies[env["PATH_INFO"]]] })
