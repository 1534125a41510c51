# frozen_string_literal: true

require "test_helper"
require_relative "../interop/support/handover_case"
require_relative "support/nothing_lost"

# The program start_server replaces servers that do not use its listeners, because a wrapper runs them, as a command
# that runs a container does. The servers have reuse_port. One second after a new server was started, the former server
# is told to stop, even if the new one has not loaded its application. No client may notice this.
class WrappedServerSoakTest < Interop::HandoverCase
  include Support::OnceMore
  include NothingLost

  LOADING = 2 # seconds that the application takes to load
  # Requests, and requests per second, of each of the two load generators.
  REQUESTS = 50_000
  RATE = 2_500
  WRAPPER = <<~SHELL
    #!/bin/sh
    trap 'kill -TERM $server' TERM
    "$@" &
    server=$!
    wait $server || wait $server
  SHELL

  def test_no_request_is_lost_while_servers_are_replaced
    port = free_port
    starter = start_wrapped(port)
    starter.wait_for_output(/ ready in \d+ ms$/)
    loads = [load_of(port), load_of(port, "--close")]
    generations = 1
    generations = next_generation(starter, generations) while loads.any?(&:running?)
    loads.each { |load| assert_equal REQUESTS, assert_nothing_lost(load, -> { starter.output.text })["ok"] }
    assert_operator generations, :>=, 4
  end

  private

  # A held port would look like another server that is starting.
  def free_port
    Addrinfo.tcp("127.0.0.1", 0).bind { |socket| socket.local_address.ip_port }
  end

  def start_wrapped(port)
    wrapper = temp_file("wrapper", WRAPPER).tap { |path| File.chmod(0o755, path) }
    rackup_file("config.ru", "sleep #{LOADING}\n#{WHERE}")
    args = ["-w", "2", "--reuse-port", "-l", "127.0.0.1:#{port}"]
    start_process("start_server", "--", wrapper, *SERVER, *args,
                  env: { **Support::BontebokProcess::ENVIRONMENT, "KILL_OLD_DELAY" => "1" }, chdir: temp_dir)
  end

  def load_of(port, *options)
    start_process(*SERVER, "bench", "--json", "-c", "16", "--rate", RATE.to_s, "-n", REQUESTS.to_s, *options,
                  "http://127.0.0.1:#{port}/")
  end
end
