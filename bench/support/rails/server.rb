# frozen_string_literal: true

require_relative "../build"
require_relative "../load"
require_relative "../process_group"

module Bench
  # Servers of the Rails application in bench/apps/rails, for bench/memory and bench/threads.
  module RailsServer
    APP = File.join(Build::ROOT, "bench/apps/rails/app.ru")
    GEMFILE = File.join(Build::ROOT, "bench/peers/rails/Gemfile")
    BOOT_SECONDS = 60
    # Three quarters of the requests are for pages, the others for an API.
    PAGES = "/posts"
    API = ["--also", "0.25:/posts/1"].freeze

    module_function

    def prepare
      Build.run!(File.join(Build::ROOT, "bin/setup"), "--run")
      Build.bundle(GEMFILE)
    end

    # Yields the ProcessGroup and the address. name: "bontebok" or "puma". waits: how much longer
    # requests wait for the database than they usually do. options: of Bontebok.
    def serve(name, dir, workers:, threads:, waits: 1, options: [])
      @number = @number.to_i + 1
      address = Load.address("unix", dir, @number)
      log = File.join(dir, "#{@number}.log")
      env = { "RACK_ENV" => "production", "RAILS_ENV" => "production", "BENCH_WAITS" => waits.to_s,
              "DATABASE_URL" => "sqlite3:#{dir}/database.sqlite3", **Build.gems_of(GEMFILE) }
      server = ProcessGroup.new(["bundle", "exec", *command(name, address, workers, threads), *options, APP],
                                env: env, address: address, core: cores, log: log)
      server.ready?(BOOT_SECONDS) || abort("#{name} does not start: #{File.read(log)}")
      yield server, address
    ensure
      server&.finish
    end

    # Returns the result of the load tool.
    def load(address, *arguments)
      Load.run(address, *arguments, *API, path: PAGES, core: cores)
    end

    def wait_until_ready(address)
      sleep 0.1 until Load.run(address, "-n", 1, path: "/ready", core: cores).failed.zero?
    end

    def command(name, address, workers, threads)
      if name == "puma"
        return ["puma", "-q", "-e", "production", "-w", workers.to_s, "--preload", "-t", "#{threads}:#{threads}",
                "-b", "unix://#{address}"]
      end
      [File.join(Build::ROOT, "exe/bontebok"), "-w", workers.to_s, "-t", threads.to_s, "-E", "production",
       "-l", "unix:#{address}"]
    end

    def cores = File.read("/proc/self/status")[/^Cpus_allowed_list:\s*(\S+)/, 1]

    private_class_method :command, :cores
  end
end
