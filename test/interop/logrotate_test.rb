# frozen_string_literal: true

require "json"
require "test_helper"

# Runs logrotate with the example of docs/LOGS.md. No line is lost. After the workers have been replaced, no line goes
# to the old files.
class LogrotateTest < Support::TestCase
  EXAMPLE = /^```\n([^`]+\*\.log \{[^`]+)^```/
  NAMES = %w[server access].freeze
  WORKERS = 2

  def setup
    @logs = File.join(temp_dir, "log")
    Dir.mkdir(@logs, 0o755)
  end

  def test_lines_after_the_rotation_go_to_the_new_files
    server = start
    server.get("/before")
    eventually { NAMES.all? { |name| text(name).include?("/before") } }
    rotate
    eventually { text("server").match?(/opened again/) }
    # A worker writes to the old files until a new worker replaces it.
    eventually { text("server").scan(/ has left: exit status 0$/).size == WORKERS }
    server.get("/after")
    eventually { NAMES.all? { |name| text(name).include?("/after") } }
    NAMES.each { |name| assert_equal ["/before"], text(name, ".1").scan(%r{/before|/after}).uniq, name }
  end

  private

  def start
    server = start_bontebok(ready: false, rackup: "run ->(env) { raise env['PATH_INFO'] }\n",
                            args: ["-w", WORKERS, "--pidfile", "#{temp_dir}/bontebok.pid", "--log", path("server"),
                                   "--access-log", path("access"), "--access-log-format", "%U"])
    eventually { text("server").include?(" ready in ") }
    address = Support::Address.new("unix:#{temp_dir}/bontebok.sock")
    server.define_singleton_method(:address) { address }
    server
  end

  def rotate
    page = File.read(File.join(ROOT, "docs/LOGS.md"), encoding: "UTF-8")
    example = page[EXAMPLE, 1].sub("/var/log/app", @logs).sub("/run/app/bontebok.pid", "#{temp_dir}/bontebok.pid")
    configuration = temp_file("logrotate.conf", example)
    tool = Support::ChildProcess.run("logrotate", "--force", "--state", "#{temp_dir}/state", configuration,
                                     env: { "PATH" => "#{ENV.fetch('PATH')}:/usr/sbin:/sbin" })
    assert_predicate tool.status, :success?, tool.output.text
  end

  def path(name, suffix = "")
    File.join(@logs, "#{name}.log#{suffix}")
  end

  # Returns "" if the server has not created the file yet. The server creates a file at its start and after the
  # rotation.
  def text(...)
    File.read(path(...))
  rescue Errno::ENOENT
    ""
  end
end
