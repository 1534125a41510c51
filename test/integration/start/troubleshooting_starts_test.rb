# frozen_string_literal: true

require "test_helper"
require "support/troubleshooting_page"

# Starts and deploys that fail print the lines that docs/TROUBLESHOOTING.md quotes. wrong_starts_test.rb tests that the
# start of a port below 1024 fails.
class TroubleshootingStartsTest < Support::TestCase
  include Support::TroubleshootingPage

  APP = "run ->(env) { [env['PATH_INFO'] == '/up' ? 301 : 200, {}, []] }\n"
  NOT_ROOT = (Process.euid.zero? ? %w[setpriv --reuid nobody --clear-groups] : []).freeze

  def test_permission_denied
    heading = "The start fails: permission denied"
    temp_file("config.ru", APP)
    Dir.mkdir(File.join(temp_dir, "log"), 0o555)
    File.chmod(0o555, temp_dir)
    text = failed("-l", "unix:bontebok.sock", under: NOT_ROOT) +
           failed("-l", "127.0.0.1:0", "--log", "log/error.log", under: NOT_ROOT)
    assert_quoted heading, text, only: /unix|log/
    assert_includes Support::TroubleshootingPage.quotes[heading],
                    "bontebok: cannot listen on 0.0.0.0:80: Permission denied: " \
                    "a port below 1024 needs root or CAP_NET_BIND_SERVICE"
  ensure
    File.chmod(0o755, temp_dir)
  end

  def test_address_already_in_use
    TCPServer.open("127.0.0.1", 0) do |listener|
      server = start_bontebok(args: %w[-w 1 --pidfile bontebok.pid], rackup: APP)
      text = failed("-l", "127.0.0.1:#{listener.local_address.ip_port}") + failed("-l", server.address) +
             failed("-l", "unix:other.sock", "--pidfile", "bontebok.pid")
      assert_quoted "The start fails: Address already in use", text
    end
  end

  def test_a_directory_that_does_not_exist
    temp_file("config.ru", APP)
    text = failed("-l", "unix:none/bontebok.sock") + failed("-l", "127.0.0.1:0", "--pidfile", "none/bontebok.pid") +
           failed("-l", "127.0.0.1:0", "--log", "log/error.log")
    assert_quoted "The start fails: its directory does not exist", text.gsub("/none/", "/")
  end

  def test_no_worker_becomes_ready
    hook = temp_file("hook.rb", "after_fork { raise 'no database' }\n")
    text = failed("-l", "127.0.0.1:0", "-w", "2", rackup: "raise 'no such column'\n") +
           failed("-l", "127.0.0.1:0", "-w", "2", "-c", hook, rackup: APP) +
           failed("-l", "127.0.0.1:0", "-w", "2", "--preload", "false", "--worker-boot-timeout", "1",
                  rackup: "sleep\n")
    assert_quoted "The start fails: no worker became ready", text
  end

  def test_a_deploy_that_fails
    server = start("-c", temp_file("bontebok.rb", "health_paths '/up' if File.exist?('checked')\n"))
    temp_file("checked")
    text = command("deploy", "--wait")
    temp_file("config.ru", "raise 'no such column'\n")
    text << command("deploy", "--wait") << command("deploy", "--control", "tmp/none.control").sub("none", "bontebok")
    assert_quoted "A deploy fails", text + server.output.text
  end

  def test_a_deploy_that_is_busy
    server = start
    temp_file("config.ru", "sleep 0.01 until File.exist?('go')\n#{APP}")
    server.signal("USR2")
    server.wait_for_output(/ a new master is executed\n/)
    assert_quoted "A deploy is busy", command("deploy", "--wait", status: 3)
    temp_file("go")
    server.wait_for_output(/ g2 ready .*\n/)
  end

  def test_each_quoted_line_has_a_test
    tests = Dir[File.expand_path("../../{integration,interop}/**/troubleshooting*_test.rb", __dir__)]
    text = tests.map { |file| File.read(file) }.join
    Support::TroubleshootingPage.quotes.each_key { |heading| assert text.include?("\"#{heading}\""), heading }
  end

  private

  def start(*args)
    temp_file("tmp/keep")
    start_bontebok(args: ["-w", "1", *args], rackup: APP).tap { |server| server.wait_for_output(/ ready in .*\n/) }
  end

  # Returns the output of a start that fails.
  def failed(*args, rackup: nil, under: nil)
    server = start_bontebok(listen: nil, ready: false, args: args, rackup: rackup, under: under)
    assert_equal 1, server.wait.exitstatus, server.output.text
    server.output.wait_for_end
    server.output.text
  end

  # Returns the output of a command that connects to the control socket.
  def command(*args, status: 1)
    child = start_bontebok(listen: nil, ready: false, args: args)
    assert_equal status, child.wait.exitstatus, child.output.text
    child.output.wait_for_end
    child.output.text
  end
end
