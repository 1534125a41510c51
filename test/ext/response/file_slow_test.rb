# frozen_string_literal: true

require_relative "../support/lane_case"

# The clients of bodies with to_path read slowly, or the serving thread is busy.
class FileSlowTest < Support::LaneCase
  Body = Struct.new(:to_path) do
    def each = yield("from each")
  end

  # The connection keeps the file, so the thread serves the next request although the client reads nothing.
  def test_a_slow_client_does_not_hold_the_thread
    large = temp_file("large", "x" * (32 << 20))
    server = serve { |env| env["PATH_INFO"] == "/large" ? [200, {}, Body.new(large)] : OK }
    server.connect do |client|
      client.request("GET", "/large")
      client.read(1)

      assert_equal "ok", server.get("/").body
    end
  end

  # The default action of SIGPIPE would end this process.
  def test_a_client_that_leaves_does_not_end_the_program
    trap("PIPE", "SYSTEM_DEFAULT")
    large = temp_file("large", "x" * (32 << 20))
    server = serve { |env| env["PATH_INFO"] == "/large" ? [200, {}, Body.new(large)] : OK }
    before = descriptors
    server.connect do |client|
      client.request("GET", "/large")
      client.read(1)
    end
    eventually { descriptors <= before }

    assert_equal "ok", server.get("/").body
    refute system("kill -s PIPE $$")
    assert_equal Signal.list["PIPE"], Process.last_status.termsig # a command has the action that the program has chosen
  ensure
    trap("PIPE", "DEFAULT")
  end

  # The I/O thread sends the rest of the file.
  def test_a_busy_thread_does_not_hold_a_file
    large = temp_file("large", bytes = Random.new(1).bytes(16 << 20))
    entered = Queue.new
    go_on = Queue.new
    server = serve do |env|
      entered << true
      next [200, {}, Body.new(large)] if env["PATH_INFO"] == "/large"

      go_on.pop
      OK
    end
    server.connect do |client|
      client.request("GET", "/large")
      entered.pop
      server.connect do |other|
        other.request("GET", "/busy")
        entered.pop

        assert_equal bytes, client.read_response.body
      ensure
        go_on << true
      end
    end
  end

  private

  def descriptors = Dir.children("/proc/self/fd").size
end
