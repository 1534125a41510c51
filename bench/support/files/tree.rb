# frozen_string_literal: true

require "fileutils"

module Bench
  module Files
    # The directory of files that all servers serve, and lists of paths for the load tool. The content is random bytes,
    # the same in each run. It has just been written, so the kernel has it in its cache.
    class Tree
      SIZES = { "/1k.js" => 1024, "/16k.js" => 16 * 1024, "/1m.js" => 1024**2, "/100m.bin" => 100 * (1024**2) }.freeze
      # 100 directories of 100 files.
      MANY = (0..99).flat_map { |directory| (0..99).map { |file| "/many/#{directory}/#{file}.js" } }.freeze
      KIB = 1024
      PAGE = { "/page/index.html" => 12, "/page/base.css" => 4, "/page/theme.css" => 10, "/page/icons.css" => 30,
               "/page/boot.js" => 2, "/page/menu.js" => 6, "/page/forms.js" => 15, "/page/charts.js" => 40,
               "/page/vendor.js" => 60, "/page/logo.png" => 3, "/page/photo.png" => 45, "/page/avatar.png" => 8,
               "/page/flag.png" => 1 }.transform_values { |kib| kib * KIB }.freeze
      # Paths of no file, for an application. The directory /articles does not exist, /many/7 does.
      PAGES = Array.new(100_000) { |number| "/articles/#{number}" }.freeze
      BESIDE = Array.new(100_000) { |number| "/many/7/#{number}" }.freeze

      attr_reader :root

      # dir: an empty directory for the files and the lists.
      def initialize(dir)
        @dir = dir
        @root = File.join(dir, "public")
        random = Random.new(1)
        { **SIZES, **PAGE, **MANY.to_h { |path| [path, KIB] } }.each { |path, size| write(path, random.bytes(size)) }
      end

      # A file for --paths of the load tool.
      def list(paths)
        File.join(@dir, "paths-#{paths.hash}").tap do |file|
          File.write(file, paths.map { |path| "#{path}\n" }.join) unless File.exist?(file)
        end
      end

      def content(path) = File.binread(File.join(root, path))

      private

      def write(path, bytes)
        file = File.join(root, path)
        FileUtils.mkdir_p(File.dirname(file))
        File.binwrite(file, bytes)
      end
    end
  end
end
