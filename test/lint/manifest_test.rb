# frozen_string_literal: true

require_relative "checks"

class ManifestTest < Lint::TestCase
  def test_the_gem_packs_what_it_needs
    assert_clean Lint::Manifest
  end

  def test_missing_built_and_deleted_files_are_reported
    temp_file("core/src/a.c")
    temp_file("lib/b.so")
    found = Lint::Manifest.new(temp_dir, files: ["lib/b.so", "lib/c.rb"]).faults
    assert_equal ["core/src/a.c is needed and not packed", "lib/b.so is a built file, but the gem packs it",
                  "lib/c.rb is packed and not there"], found
  end

  if Support::Length::LONG
    # Installs the packed gem in another directory, builds the gem there and starts its command.
    def test_the_packed_gem_builds_and_starts
      package = File.join(temp_dir, "bontebok.gem")
      run!("gem", "build", "--silent", "--output", package, "bontebok.gemspec", chdir: ROOT)
      home = File.join(temp_dir, "home")
      run!("gem", "install", "--local", "--ignore-dependencies", "--no-document", "--install-dir", home, package)

      environment = { "GEM_PATH" => [home, *Gem.path].join(File::PATH_SEPARATOR) }
      version = run!(RbConfig.ruby, File.join(home, "bin/bontebok"), "--version", env: environment)
      assert_includes version, Gem::Specification.load(File.join(ROOT, "bontebok.gemspec")).version.to_s
      assert_includes run!(RbConfig.ruby, File.join(home, "bin/bontebok"), "bench", "--help", env: environment), "URL"
    end
  end

  private

  # Runs the command without Bundler's environment variables, so that it uses only the packed gem.
  def run!(*command, env: {}, **options)
    bare = { "RUBYOPT" => nil, "BUNDLE_GEMFILE" => nil, "RUBYLIB" => nil, "GEM_HOME" => nil }
    child = Support::ChildProcess.run(*command, env: bare.merge(env), limit: 120, **options)
    assert_predicate child.status, :success?, child.output.text
    child.output.text
  end
end
