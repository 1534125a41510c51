# frozen_string_literal: true

require_relative "../build"

module Bench
  # The commands that start the servers of a Rails application, in production on a unix socket. All load the application
  # before they fork. unicorn and pitchfork read the number of workers from the environment, and have no threads.
  module RailsCommands
    FILES = File.join(Build::ROOT, "bench/apps/rails")

    module_function

    def bontebok(address, workers, threads)
      [File.join(Build::ROOT, "exe/bontebok"), "-w", workers.to_s, "-t", threads.to_s, "-E", "production",
       "-l", "unix:#{address}"]
    end

    def puma(address, workers, threads)
      ["puma", "-q", "-e", "production", "-w", workers.to_s, "--preload", "-t", "#{threads}:#{threads}",
       "-b", "unix://#{address}"]
    end

    def unicorn(address, _workers, _threads)
      ["unicorn", "-E", "production", "-c", File.join(FILES, "unicorn.rb"), "-l", address]
    end

    def pitchfork(address, _workers, _threads)
      ["pitchfork", "-E", "production", "-c", File.join(FILES, "pitchfork.rb"), "-l", address]
    end
  end
end
