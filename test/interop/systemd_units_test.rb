# frozen_string_literal: true

require "test_helper"
require_relative "../support/notify_socket"

# The units of docs/DEPLOYMENT.md, and the unit of puma's docs/systemd.md.
class SystemdUnitsTest < Support::TestCase
  DOCUMENT = File.expand_path("../../docs/DEPLOYMENT.md", __dir__)
  UNIT = %r{^`/etc/systemd/system/([\w.]+)`:\n\n```ini\n(.*?)^```}m
  # puma 8.0, docs/systemd.md, without the comments, with bontebok instead of puma.
  PUMA = <<~INI
    [Unit]
    Description=Puma HTTP Server
    After=network.target

    [Service]
    Type=notify
    WatchdogSec=10
    WorkingDirectory=/srv/app
    ExecStart=/usr/local/bin/bontebok -C /srv/app/puma.rb
    Restart=always

    [Install]
    WantedBy=multi-user.target
  INI
  COMMAND = [RbConfig.ruby, Support::BontebokProcess::EXECUTABLE].freeze

  def setup
    @manager = Support::NotifySocket.new(File.join(temp_dir, "notify")).follow
    @units = File.read(DOCUMENT).scan(UNIT).to_h.merge("puma.service" => PUMA)
  end

  def teardown
    @manager.close
  end

  def test_systemd_accepts_the_units
    assert_equal %w[app.service app.socket puma.service solo.service], @units.keys.sort
    program = temp_file("program")
    File.chmod(0o755, program)
    paths = @units.map { |name, text| temp_file(name, text.gsub(%r{/usr/local/bin/\w+}, program)) }
    verify = run_command("systemd-analyze", "verify", "--man=no", *paths)
    assert_equal ["", 0], [verify.output.text, verify.status.exitstatus]
    broken = temp_file("broken.service", @units["solo.service"].sub("WatchdogSec", "WatchdogSeconds"))
    assert_match(/WatchdogSeconds/, run_command("systemd-analyze", "verify", "--man=no", broken).output.text)
  end

  def test_start_and_reload
    %w[current shared].each { |name| Dir.mkdir("#{temp_dir}/#{name}") }
    rackup_file("current/config.ru", "run ->(_) { [200, {}, ['hello']] }")
    { "app.service" => "/srv/app/shared", "solo.service" => "/run/app" }.each do |name, directory|
      start(name, { "/srv/app" => temp_dir, directory => "#{temp_dir}/shared" })
      reload = run_command(*command(name, "ExecReload"))
      assert_equal ["generation 2 serves\n", 0], [reload.output.text, reload.status.exitstatus]
      stop
    end
  end

  def test_the_unit_of_puma
    temp_file("puma.rb", "bind 'unix://#{temp_dir}/puma.sock'\nworkers 1\n")
    rackup_file("config.ru", "run ->(_) { [200, {}, ['hello']] }")
    start("puma.service", { "/srv/app" => temp_dir })
    assert_equal "hello", Support::Client.body_from("unix:#{temp_dir}/puma.sock")
    eventually("signs of life") { @manager.messages.any? { |fields| fields.key?("WATCHDOG") } }
    stop
  end

  private

  # paths: { path of the unit => path of the test }.
  def start(name, paths)
    @paths = paths
    seconds = @units.fetch(name)[/^WatchdogSec=(\d+)$/, 1]
    env = { "NOTIFY_SOCKET" => @manager.path, "WATCHDOG_USEC" => "#{seconds}000000" }
    listen = name == "app.service" ? ["-l", "unix:#{temp_dir}/a.sock"] : []
    @server = start_process(*command(name, "ExecStart"), *listen, env: env, chdir: temp_dir)
    eventually("READY", seen: -> { @server.output.text }) { @manager.states.include?("READY") }
  end

  def stop
    assert_equal 0, @server.stop.exitstatus
    assert_equal "STOPPING", @manager.states.last
    @manager.forget
  end

  # The command of the unit, for the test's paths.
  def command(name, key)
    text = @units.fetch(name)[/^#{key}=(.*)$/, 1].sub(/\A.*?bontebok(?= )/, "")
    @paths.each { |from, to| text = text.gsub(from, to) }
    [*COMMAND, *text.split]
  end

  def run_command(*command)
    Support::ChildProcess.run(*command, chdir: temp_dir)
  end
end
