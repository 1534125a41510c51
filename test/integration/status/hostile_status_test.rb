# frozen_string_literal: true

require "bontebok/bontebok"
require "bontebok/cli/cli"
require "test_helper"
require_relative "../support/control_case"

# A worker fills the scoreboard and the totals with random bytes. `bontebok status` still ends, and prints no control
# bytes. The server serves on.
class HostileStatusTest < Support::TestCase
  include ControlCase

  # Bytes of the layout, which a later process compares before it uses the memory.
  APP = <<~'RUBY'
    LAYOUTS = { "/memfd:bontebok-scoreboard (deleted)" => 28, "/memfd:bontebok-metrics (deleted)" => 32 }
    run(lambda do |env|
      random = Random.new(env["QUERY_STRING"].to_i)
      files = Dir["/proc/self/fd/*"].select { |path| LAYOUTS.key?(File.readlink(path)) rescue false }
      files.each do |path|
        from = env["PATH_INFO"] == "/all" ? 0 : LAYOUTS.fetch(File.readlink(path))
        File.open(path, "r+b") do |file|
          number = -> { [[0, 0, 1, -1, Process.pid].sample(random: random)].pack("l") }
          words = Array.new(5_003) { random.rand(2).zero? ? random.bytes(4) : number.call }
          file.pwrite((words.join * (file.size / 20_000))[0, file.size - from], from)
        end
      end
      [200, { "content-type" => "text/plain" }, ["overwritten #{files.size}"]]
    end)
  RUBY
  UNSAFE = /[[:cntrl:]&&[^\n]]/
  TIMES = 6

  def test_random_bytes_in_both_memories
    release(1, "config.ru" => APP)
    server = start
    seed = Integer(ENV.fetch("SEED", 38))
    TIMES.times do |number|
      assert_match(/overwritten [2-9]/, server.get("/?#{seed + number}").body)
      [[], %w[--json], %w[--csv], %w[--format puma], %w[--format mackerel]].each { |flags| assert_safe(flags) }
    end
    server.get("/all?#{seed}")
    assert_match(/\Athe numbers of this server cannot be read: .* of this version\n/, assert_safe([]))
    assert_equal "serving", status["state"]
    server.stop("INT") # TERM waits for lanes that the memory shows
  end

  private

  # Returns the output.
  def assert_safe(flags)
    exit_status = nil
    out, err = capture_io { exit_status = Bontebok::CLI.run(["status", "--control", control, *flags]) }
    assert_equal [0, ""], [exit_status, err], flags.inspect
    refute_match UNSAFE, out.tr("\t", " "), flags.inspect
    assert_predicate out, :valid_encoding?
    out
  end
end
