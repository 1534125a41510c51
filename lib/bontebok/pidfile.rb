# frozen_string_literal: true

require "fileutils"

require_relative "start_error"

module Bontebok
  # The file in which the started process tells others its number. It is there only whole: written under another name
  # and renamed.
  class Pidfile
    def initialize(path)
      @path = path
    end

    # Raises StartError, also when the process lives that has written its number there.
    def write
      owner = number
      raise StartError, "#{@path} has the number of a server that lives: #{owner}" if lives?(owner)

      File.write(temporary, "#{Process.pid}\n")
      File.rename(temporary, @path)
    rescue SystemCallError => e
      FileUtils.rm_f(temporary)
      raise StartError, "cannot write the file #{@path}: #{SystemCallError.new(nil, e.errno).message}"
    end

    # If it is ours: a process that was forked meanwhile, or another server, has a number of its own.
    def remove
      File.unlink(@path) if number == Process.pid
    rescue SystemCallError
      nil
    end

    private

    def temporary
      "#{@path}.#{Process.pid}"
    end

    # nil: there is none to be read.
    def number
      Integer(File.read(@path), 10)
    rescue SystemCallError, ArgumentError
      nil
    end

    # In a container we may have the number that a server had which was killed.
    def lives?(owner)
      return false if owner.nil? || owner < 1 || owner == Process.pid

      Process.kill(0, owner)
      true
    rescue Errno::EPERM
      true
    rescue Errno::ESRCH, RangeError
      false
    end
  end
end
