# frozen_string_literal: true

require "fileutils"

# Tests of deploys include this module. As with Capistrano, each release has a directory, and the link `current` leads
# to the newest release. The server is started in `current`.
module Releases
  # Responds with the release, the version of Bontebok and of Ruby, and the value of the variable LEAK, which the first
  # release sets. The server's environment must not reach the next release.
  APP = <<~'RUBY'
    number = File.basename(Dir.pwd)
    text = "release #{number}, bontebok #{Bontebok::VERSION}, leak #{ENV['LEAK'].inspect}"
    ENV["LEAK"] = number
    run ->(_) { [200, { "content-type" => "text/plain" }, [text]] }
  RUBY
  LIB = File.expand_path("../../../lib", __dir__)

  # Makes a release and lets `current` lead to it. files: { name => text }.
  def release(number, files = {})
    { "config.ru" => APP }.merge(files).each { |name, text| temp_file("releases/#{number}/#{name}", text) }
    File.symlink("releases/#{number}", "#{temp_dir}/new")
    File.rename("#{temp_dir}/new", "#{temp_dir}/current")
  end

  # Makes a release that has its own Bontebok.
  def release_with_bontebok(number, version)
    files = %w[config.ru exe/bontebok].zip([Releases::APP, File.read(Support::BontebokProcess::EXECUTABLE)]).to_h
    release(number, files)
    FileUtils.cp_r(Releases::LIB, "#{temp_dir}/releases/#{number}/lib")
    change_lib(number, "version.rb", /VERSION = ".*"/, "VERSION = #{version.inspect}")
  end

  # Makes a release that has its own Bontebok, whose scoreboard has another layout. totals: so have its totals.
  def release_with_other_layout(number, version, totals: false)
    release_with_bontebok(number, version)
    change_lib(number, "sockets/worker_links.rb", "self.attach(descriptors, totals: nil)\n",
               "\\0raise ArgumentError, 'other layout'\n")
    change_lib(number, "sockets/shared/totals.rb", "Core::Scoreboard::LAYOUT, Core::Metrics::LAYOUT]",
               "Core::Scoreboard::LAYOUT + 1, Core::Metrics::LAYOUT + #{totals ? 1 : 0}]")
  end

  # Changes a file of a release's own Bontebok.
  def change_lib(number, name, pattern, replacement)
    path = "#{temp_dir}/releases/#{number}/lib/bontebok/#{name}"
    File.write(path, File.read(path).sub!(pattern, replacement))
  end

  def remove_release(number)
    FileUtils.rm_r("#{temp_dir}/releases/#{number}")
  end

  # Starts the command in `current`, as a shell does: PWD is the name of the link. With a short err_respawn_interval, a
  # deploy does not take longer than it must.
  def start_current(*args, command: [RbConfig.ruby, Support::BontebokProcess::EXECUTABLE], env: {},
                    listen: ["-l", "unix:#{temp_dir}/bontebok.sock"])
    directory = "#{temp_dir}/current"
    server = Support::ServerProcess.new(*command, *listen, "--err-respawn-interval", "10ms", *args,
                                        chdir: directory, env: { "PWD" => directory }.merge(env))
    children << server
    server.wait_for_output(/ ready in \d+ ms$/)
    server
  end

  # Sends USR2 and waits until the former generation has left.
  def deploy(server, times = 1)
    server.signal("USR2")
    server.wait_for_output(/(?:.*master \(pid \d+\) has left){#{times}}/m)
  end

  # Waits for a line in a log file of #temp_dir.
  def wait_for_log(name, pattern)
    path = "#{temp_dir}/#{name}"
    eventually("#{pattern} in #{name}", seen: -> { Dir["#{temp_dir}/**/*log*"].map { |log| File.read(log) } }) do
      File.exist?(path) && File.read(path).match?(pattern)
    end
  end

  # Sends a request to a unix socket of #temp_dir.
  def get(socket)
    Support::Client.open(Support::Address.new("unix:#{temp_dir}/#{socket}")) do |client|
      client.request("GET", "/", { "Connection" => "close" })
      client.read_response
    end
  end

  # Workers of the other release accept until they know that they must retire.
  def assert_serves(number, server, rest = "leak nil")
    body = nil
    assert(eventually("release #{number}", seen: -> { body }) do
      (body = server.get.body).match?(/\Arelease #{number}, .*#{rest}\z/)
    end)
  end
end
