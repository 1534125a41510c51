# frozen_string_literal: true

require "test_helper"

# 100,000 streams and hijacked sockets: the application drops half of them, and closes the other half. Afterwards, the
# process has as many descriptors as before, and about as much memory. test/ext/worker/detached_test.rb is the short
# form.
class DetachedSoakTest < Support::TestCase
  include Support::OnceMore

  PATHS = %w[/stream /hijack /closed-stream /closed-hijack].freeze
  COUNT = 25_000 # of each path
  # Requests between two collections, so that descriptors do not run out.
  BATCH = 2_000
  # The garbage collector may find a few references on the stacks of threads.
  LEFT = 10
  MEMORY = 20 * 1024 * 1024
  APP = <<~'RUBY'
    app = lambda do |env|
      case env["PATH_INFO"]
      when "/stream" then [200, {}, ->(_stream) {}]
      when "/closed-stream" then [200, {}, ->(stream) { Thread.new { stream.close } }]
      when "/hijack" then env["rack.hijack"].call.write("x") && [200, {}, []]
      when "/closed-hijack" then env["rack.hijack"].call.tap { |io| io.write("x") }.close || [200, {}, []]
      else GC.start || [200, {}, ["#{Dir.children("/proc/self/fd").size} #{Process.pid}"]]
      end
    end
  RUBY

  { "a_worker" => %w[-w 1], "one_process" => %w[-w 0] }.each do |name, args|
    define_method("test_#{name}") do
      server = start_bontebok(args: [*args, "-t", "2"], rackup: "#{APP}\nrun app", lint: false)
      run_all(server.address)
    end
  end

  def test_an_embedded_server
    listener = "unix:#{temp_dir}/embedded.sock"
    script = temp_file("embedded.rb", <<~RUBY)
      require "bontebok/embedded/server"
      #{APP}
      Bontebok::Server.new(app, listen: "#{listener}", threads: 2).start
      $stdout.write("ready\n").then { $stdout.flush }
      sleep
    RUBY
    process = start_process(RbConfig.ruby, "-I#{File.join(ROOT, "lib")}", script)
    process.wait_for_output(/ready/)
    run_all(Support::Address.new(listener))
  end

  private

  def run_all(address)
    run_each(address, BATCH)
    descriptors, pid = collect(address)
    memory = Support::ProcessTable.memory_bytes(pid)
    run_each(address, COUNT)

    eventually("the release of the descriptors") { collect(address).first <= descriptors + LEFT }
    assert_operator Support::ProcessTable.memory_bytes(pid), :<=, memory + MEMORY
  end

  def run_each(address, count)
    PATHS.each do |path|
      count.times do |number|
        detach(address, path)
        collect(address) if (number % BATCH).zero?
      end
    end
  end

  # Waits for the first byte, because a request is not served if its client has left.
  def detach(address, path)
    Support::Client.open(address) do |client|
      client.request("GET", path)
      client.read(1)
    end
  end

  # Lets the process that serves collect garbage. Returns the number of its descriptors, and its pid.
  def collect(address)
    Support::Client.open(address) do |client|
      client.request("GET", "/")
      client.read_response.body.split.map(&:to_i)
    end
  end
end
